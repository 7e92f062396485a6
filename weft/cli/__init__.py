"""The command line: it reads arguments, prints and exits; everything else happens below."""
