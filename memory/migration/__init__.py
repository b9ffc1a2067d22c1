"""Bringing sessions of plain files into the database."""
