"""`python -m reluflow.sweep NOTEBOOK --grid NAME=VALUES ... --out FOLDER`: many runs of one page.

`plan` says what is run: the points of a grid, and the key of each. `runs` runs one of them and
stores it. `report` makes one table and one page of all runs.
"""
