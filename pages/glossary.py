"""Glossary: every special word in a sentence or two."""

from __future__ import annotations

from ui import glossary

glossary.show()
