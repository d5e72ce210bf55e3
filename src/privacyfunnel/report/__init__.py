"""Report: a document of a release in words, pictures and pages for people.

The page is drawn from the document alone, so that a public document makes a public page.
"""
