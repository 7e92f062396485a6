"""`python -m goalwright`."""

from goalwright.current_folder import leave_current_folder

leave_current_folder()

from goalwright.interfaces.cli.main import main  # noqa: E402  only now is it certain where modules come from

main()
