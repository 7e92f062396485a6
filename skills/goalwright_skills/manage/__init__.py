"""Changes the skills of a workspace: adds, imports, updates, edits and deletes them.

install     adds, imports (stage, then commit) and deletes skills (start reading here)
edit        reads and writes single files of the workspace's own skills
archive     lists and checks the files of a folder or archive before anything is written
git_source  fetches skills from a git repository
update      compares imported skills with their repositories; `lock_file` records where they came from
suspicion   finds suspicious content in imported skills
new_tool    writes a working tool from a template

May import discovery, format, programs and the modules below; never selection, builtin or check.
"""
