"""The page in the browser: a scene that draws and a page that poses. Knows no physics."""

from tabi.apps.viewer.page import show

__all__ = ["show"]
