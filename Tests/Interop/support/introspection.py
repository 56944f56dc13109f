# SPDX-License-Identifier: MIT
"""Introspection XML: whether it is valid, and what it says."""

from support.processes import run

DTD = "/usr/share/xml/dbus-1/introspect.dtd"


def validate(text):
    """Checks a document against the format's own definition."""
    run("xmllint", "--noout", "--nonet", "--dtdvalid", DTD, "-", input=text, status=0)


def described(element):
    """What an element says, without comments: tag, attributes, and the same of its children."""
    return (
        element.tag, tuple(sorted(element.attrib.items())),
        tuple(described(child) for child in element))
