"""Plans as pictures: text for a terminal, Mermaid, Graphviz and SVG.

    layout.py     layers and labels of tasks
    terminal.py, flowchart.py, svg.py    the formats

Pure functions from a plan to text. Titles and ids are untrusted; each format escapes them.
"""
