"""The words of the lesson, a file for each part; `labels.py` gives them out."""
