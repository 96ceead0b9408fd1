from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest

from bandstand.backends.addresses import reserve


@contextmanager
def listening(address: str, port: int) -> Iterator[socket.socket]:
    with socket.socket() as opened:
        opened.bind((address, port))
        opened.listen()
        yield opened


def test_each_host_has_an_address_of_its_own_and_the_leader_listens_already() -> None:
    with closing(reserve(3)) as addresses:
        prefix = addresses.hosts[0].rpartition(".")[0]
        assert addresses.hosts == (f"{prefix}.1", f"{prefix}.2", f"{prefix}.3")
        assert addresses.port == 7777
        with socket.create_connection((addresses.hosts[0], addresses.port)):
            pass


def test_a_block_that_is_taken_is_passed_over_even_when_its_leader_listens_no_more() -> None:
    blocks = iter([(91, 17), (91, 17), (91, 17), (91, 18)])
    with closing(reserve(1, block=lambda: next(blocks))) as first:
        first.listener.close()
        with closing(reserve(1, block=lambda: next(blocks))) as second:
            assert (first.hosts, second.hosts) == (("127.91.17.1",), ("127.91.18.1",))


def test_another_port_can_be_wanted() -> None:
    with listening("127.0.0.1", 0) as opened:
        free = opened.getsockname()[1]
    with closing(reserve(2, port=free)) as addresses:
        assert addresses.port == free


def test_a_program_that_has_the_port_on_all_addresses_is_avoided_by_another_port() -> None:
    with listening("0.0.0.0", 0) as everywhere:  # noqa: S104 - that is the case to be tested
        taken = everywhere.getsockname()[1]
        with closing(reserve(1, port=taken)) as addresses:
            assert addresses.port != taken
            with socket.create_connection((addresses.hosts[0], addresses.port)):
                pass


def test_many_jobs_at_once_get_blocks_of_their_own() -> None:
    taken = [reserve(3) for _ in range(200)]
    assert len({addresses.hosts[0] for addresses in taken}) == 200
    for addresses in taken:
        addresses.close()


def test_where_there_is_one_loopback_address_only_all_hosts_share_it(monkeypatch: pytest.MonkeyPatch) -> None:
    import errno

    real = socket.socket.bind

    def bind(self: socket.socket, address: tuple[str, int]) -> None:
        if address[0] != "127.0.0.1":
            raise OSError(errno.EADDRNOTAVAIL, "as on macOS")
        real(self, address)

    monkeypatch.setattr(socket.socket, "bind", bind)
    with closing(reserve(2)) as addresses:
        assert addresses.hosts == ("127.0.0.1", "127.0.0.1")
        assert addresses.port > 0
