"""Turns messages into styled lines; knows no widget."""
