// What is shown while nothing is open: no server answers, it wants a token, or it has no networks.

import { type FormEvent, type ReactNode, useState } from "react";
import { RefusedError } from "../api/client";
import { keptNames, kept } from "../state/kept";
import { useStore } from "../state/store";
import { Icon } from "./Icon";
import { readFiles } from "./importing";
import { Logo } from "./Logo";
import { mayChange } from "./may";
import "./Welcome.css";

export function Welcome() {
  const connection = useStore((state) => state.connection);
  const isLate = useStore((state) => state.isLate);
  if (connection === "refused") return <TokenForm />;
  if (connection === "live" || connection === "lost") return <NothingYet />;
  return (
    <Card title={isLate ? "The server does not answer" : "Connecting …"}>
      <p aria-live="polite" className="muted">
        {isLate ? "The page asks again every two seconds. Is it running?" : "Asking the server what it runs."}
      </p>
      <span aria-hidden="true" className="welcome-wait" />
    </Card>
  );
}

function Card({ title, children }: { title: string; children: ReactNode }) {
  return (
    <main aria-label="Welcome" className="welcome">
      <div className="welcome-card">
        <Logo size={72} />
        <h2>{title}</h2>
        {children}
      </div>
    </main>
  );
}

function TokenForm() {
  const { offerToken } = useStore.getState();
  const [token, setToken] = useState("");
  const [said, setSaid] = useState("");
  const [isBusy, setBusy] = useState(false);
  const offer = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    try {
      if (!(await offerToken(token.trim()))) setSaid("The server does not know this token.");
    } catch (error) {
      setSaid(error instanceof RefusedError ? error.message : "That did not work.");
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="This server wants a token">
      <form className="welcome-form" noValidate onSubmit={offer}>
        <label htmlFor="token">Token</label>
        <div className="row">
          <input
            aria-describedby="token-said"
            aria-invalid={said !== ""}
            autoComplete="current-password"
            autoFocus
            id="token"
            onChange={(event) => {
              setToken(event.target.value);
              setSaid("");
            }}
            type="password"
            value={token}
          />
          <button className="primary" disabled={isBusy || token.trim() === ""} type="submit">
            Go in
          </button>
        </div>
        <p aria-live="polite" className={said ? "bad" : "muted"} id="token-said">
          {said || "Whoever started it has one. It is kept until you close this tab."}
        </p>
      </form>
    </Card>
  );
}

function NothingYet() {
  const networks = useStore((state) => state.networks);
  const may = useStore(mayChange);
  const { showDialog, open, startNew, say } = useStore.getState();
  const [isOver, setOver] = useState(false);
  const drawn = keptNames().filter((name) => !networks.some((one) => one.name === name));
  const drop = (files: FileList) => {
    setOver(false);
    readFiles(files).catch((error: Error) => say("bad", error.message));
  };
  return (
    <main
      aria-label="Welcome"
      className={isOver ? "welcome welcome-over" : "welcome"}
      onDragLeave={() => setOver(false)}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDrop={(event) => {
        event.preventDefault();
        drop(event.dataTransfer.files);
      }}
    >
      <div className="welcome-card">
        <Sketch />
        <h2>{networks.length === 0 ? "Draw your first network" : "Open a network"}</h2>
        {networks.length === 0 && (
          <p className="muted">Boxes and arrows, from the streams that come in to the answers that go out.</p>
        )}
        <ul className="welcome-list">
          {networks.map(({ name }) => (
            <li key={name}>
              <button onClick={() => open(name).catch((error: Error) => say("bad", error.message))} type="button">
                {name}
              </button>
            </li>
          ))}
        </ul>
        <div className="row">
          <button className="primary welcome-large" onClick={() => showDialog("new")} type="button">
            <Icon name="plus" /> New network
          </button>
          <button className="welcome-large" onClick={() => showDialog("import")} type="button">
            <Icon name="into" /> Import
          </button>
        </div>
        {drawn.length > 0 && (
          <p>
            Or go on with{" "}
            {drawn.map((name) => (
              <button className="quiet" key={name} onClick={() => startNew(name, kept(name)?.drawing)} type="button">
                {name}
              </button>
            ))}
          </p>
        )}
        <p className="muted">
          {may ? "You can drop a YAML file here, too." : "Your token allows looking only: you can draw, but not deploy."}
        </p>
      </div>
    </main>
  );
}

/** A network in one glance: two streams, boxes between, an answer. */
function Sketch() {
  return (
    <svg aria-hidden="true" className="welcome-sketch" height="120" viewBox="0 0 360 120" width="360">
      <path className="welcome-arrow" d="M72 30h40q16 0 16 16v0q0 14 16 14h6M72 90h40q16 0 16-16v0q0-14 16-14h6" />
      <path className="welcome-arrow" d="M210 60h24M294 60h24" />
      <path className="welcome-tip" d="M146 56l6 4-6 4M230 56l6 4-6 4M314 56l6 4-6 4" />
      <rect className="welcome-stream" height="28" rx="14" width="56" x="16" y="16" />
      <rect className="welcome-stream" height="28" rx="14" width="56" x="16" y="76" />
      <rect className="welcome-box" height="40" rx="8" width="58" x="152" y="40" />
      <rect className="welcome-box" height="40" rx="8" width="58" x="236" y="40" />
      <circle className="welcome-output" cx="334" cy="60" r="13" />
      <path className="welcome-line" d="M28 30h32M28 90h32M166 54h30M166 62h20M250 54h30M250 62h24" />
    </svg>
  );
}
