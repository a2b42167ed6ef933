"""A Jupyter server that sends small messages at once.

TCP collects small messages and waits for an acknowledgement, which browsers delay by 40 ms
(Nagle's algorithm; RFC 896 and RFC 1122, section 4.2.3.2).  A slider sends and gets a handful
of small messages for each move, so every second move would come 40 ms late.
"""

from typing import Any

from jupyter_server.services.kernels.connection.channels import ZMQChannelsWebsocketConnection


class PromptConnection(ZMQChannelsWebsocketConnection):
    """The connection of a kernel to a page, without the waiting."""

    def connect(self) -> Any:
        """Connect, and ask the socket not to wait."""
        self.websocket_handler.set_nodelay(True)
        return super().connect()
