"""Where a run's boxes run and where its state lives: set up from what people choose, and put away at the end."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import polars as pl

from aurora.boxes import spark
from aurora.engine.journal import Journal
from aurora.engine.recovery import Committed, Recovery
from aurora.errors import InputError, StateError
from aurora.model.network import Network
from aurora.model.typed import TypedNetwork
from aurora.processors.local import LocalProcessor
from aurora.processors.plan import Processor
from aurora.storage.blocks import BlockStore
from aurora.storage.folder import open_folder
from aurora.storage.states import StateStore
from aurora.storage.tiers import Tiers

if TYPE_CHECKING:
    from aurora.processors.spark.place import SparkPlace

ProcessorName = Literal["spark", "local"]
DEFAULT_MASTER = "local[*]"


class Workplace:
    """Opens what a processor needs. ``state`` is the address of the folder for recovery, if there is to be any.

    Spark is started when the first processor is asked for, unless it runs for another network of this process already;
    ``say`` gets a line for every stage of it. What runs ``live`` may run branch by branch.
    """

    def __init__(
        self,
        processor: ProcessorName = "spark",
        *,
        master: str = DEFAULT_MASTER,
        state: str | None = None,
        memory: int | None = None,
        live: bool = False,
        ui: bool = False,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self._name = processor
        self._master = master
        # Workers may run in other folders.
        self._state = state if state is None or "://" in state else os.path.abspath(state)
        self._memory = memory
        self._live = live
        self._ui = ui
        self._say = say or (lambda line: None)
        self._tiers: Tiers | None = None
        self._place: SparkPlace | None = None
        self._journal: Journal | None = None

    def recovery(self, identity: Mapping[str, Any], *, durable: bool = True) -> Recovery | None:
        """The journal of the state folder, if one was given; StateError if it is another run's."""
        if self._state is None:
            return None
        identity = self._full(identity)
        self._journal = Journal.open(open_folder(self._state), identity, durable=durable)
        return Recovery(self._journal, fingerprint=identity.get("fingerprint"))

    def modified(self, recovery: Recovery, network: Network, options: Mapping[str, Any]) -> None:
        """From the next commit on the state folder is that of a changed network."""
        recovery.modify(self._full(identity(network, options)), network.to_json())

    def _full(self, identity: Mapping[str, Any]) -> dict[str, Any]:
        return {**identity, "processor": self._name}

    def processor(
        self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame], committed: Committed | None = None
    ) -> Processor:
        """The processor, with as many parts as the run had that is to be gone on with."""
        if self._name == "local":
            states = None if self._state is None else StateStore(open_folder(self._state), durable=True)
            return LocalProcessor(typed, statics, states=states)
        return self._spark(typed, statics, committed)

    def _spark(
        self, typed: TypedNetwork, statics: Mapping[str, pl.DataFrame], committed: Committed | None
    ) -> Processor:
        from aurora.processors.spark.masters import Master
        from aurora.processors.spark.place import SHARED
        from aurora.processors.spark.runner import SparkRunner
        from aurora.processors.steps.processor import StepProcessor

        master = Master.parse(self._master)
        if not master.is_local and self._state is None:
            raise InputError(
                f"--master {self._master} runs on other machines, which need a folder that all of them reach; "
                "give --state, a path or an address such as s3://bucket/folder"
            )
        blocks = None if self._state is None else _below(self._state, "blocks")
        self._tiers = Tiers(blocks, self._memory, shared=not master.is_local)
        self._place = SHARED.join(self._master, self._start, master.slots, ui=self._ui)
        parts = None if committed is None else int(committed.processor["parts"])
        shared = self._tiers.fastest
        restart = None if self._state is None else self._start
        runner = SparkRunner(self._place, shared, restart=restart, on_lost=self._say)
        return StepProcessor(
            typed,
            runner,
            self._tiers.blocks,
            shared if self._state is None else self._state,
            statics=statics,
            parts=parts,
            durable=self._state is not None,
            apart=self._live,
        )

    def _start(self) -> Any:
        from aurora.processors.spark.masters import Master
        from aurora.processors.spark.session import start_session

        log = self.spark_log
        self._say(f"Spark's log is {log}")
        session = start_session(Master.parse(self._master), log=log, ui=self._ui, on_progress=self._say)
        self._offer(session)
        if self._ui:
            self._say(f"Spark's page is {session.sparkContext.uiWebUrl}")
        return session

    def _offer(self, session: Any) -> None:
        """Makes the session known to boxes of kind ``spark``, and outputs of ours known to the session."""
        from aurora.connectors.spark_source import register
        from aurora.processors.spark.functions import SparkFunctions

        register(session)
        spark.RUN = SparkFunctions(session)

    @property
    def session(self) -> Any:
        """The Spark session; StateError where there is none."""
        if self._place is None:
            raise StateError(
                'there is no Spark session: the processor is local; use processor="spark"'
                if self._name == "local"
                else "there is no Spark session yet; start the engine first"
            )
        return self._place.session

    @property
    def blocks(self) -> BlockStore:
        """Where the blocks of a run on Spark live."""
        assert self._tiers is not None
        return self._tiers.blocks

    @property
    def spark_log(self) -> Path:
        folder = self._state if self._state is not None and "://" not in self._state else tempfile.gettempdir()
        return Path(folder, "spark.log" if self._state is not None else f"aurora-spark-{os.getpid()}.log")

    def close(self) -> None:
        if self._place is not None:
            from aurora.processors.spark.place import SHARED

            self._place = None
            if SHARED.leave():
                spark.RUN = None
        if self._tiers is not None:
            self._tiers.close()
        if self._journal is not None:
            self._journal.close()


def fingerprint(network: Network) -> str:
    """Two networks with the same fingerprint are the same, whatever the form of their documents."""
    return hashlib.sha256(network.to_json().encode()).hexdigest()


def _below(address: str, name: str) -> str:
    return f"{address.rstrip('/')}/{name}"


def identity(network: Network, options: Mapping[str, Any]) -> dict[str, Any]:
    """What must be the same for a run to go on from another's state."""
    return {"network": network.name, "fingerprint": fingerprint(network), **json.loads(json.dumps(options))}
