// The socket to the server: one exchange of the token, then messages both ways; it comes back by itself when the server does.
import type { FromPage, ToPage } from "./protocol";

export type Link = "connecting" | "open" | "lost" | "refused";

const LONGEST_PAUSE_MS = 4000;

export interface Listener {
  link(state: Link): void;
  message(message: ToPage, numbers: ArrayBuffer | null): void;
}

/** The token of the address is given for a cookie, and then no longer shown. */
async function exchangeToken(): Promise<boolean> {
  const words = new URLSearchParams(location.hash.slice(1));
  const token = words.get("token");
  if (token === null) return true;
  const answer = await fetch("/session", { method: "POST", body: JSON.stringify({ token }) });
  words.delete("token");
  history.replaceState(null, "", words.size ? `#${words}` : location.pathname);
  return answer.ok;
}

export class Connection {
  private socket: WebSocket | null = null;
  private pause = 250;
  private everOpen = false;
  private failures = 0;
  private waiting: FromPage[] = [];

  constructor(private readonly listener: Listener) {}

  async begin(): Promise<void> {
    this.listener.link("connecting");
    try {
      if (!(await exchangeToken())) {
        this.listener.link("refused");
        return;
      }
    } catch {
      this.listener.link("lost");
    }
    this.connect();
  }

  /** Say something; what is said before the socket is first there waits for it. */
  send(message: FromPage): boolean {
    if (!this.everOpen) return this.waiting.push(message) > 0;
    if (this.socket?.readyState !== WebSocket.OPEN) return false;
    this.socket.send(JSON.stringify(message));
    return true;
  }

  private connect(): void {
    const socket = new WebSocket(`ws://${location.host}/socket`);
    socket.binaryType = "arraybuffer";
    this.socket = socket;
    socket.onopen = () => {
      this.everOpen = true;
      this.failures = 0;
      this.pause = 250;
      this.listener.link("open");
      for (const message of this.waiting.splice(0)) this.send(message);
    };
    socket.onmessage = (event: MessageEvent<string | ArrayBuffer>) => {
      if (typeof event.data === "string") this.listener.message(JSON.parse(event.data) as ToPage, null);
      else this.unpack(event.data);
    };
    socket.onclose = () => {
      this.failures += 1;
      // A server that never let us in will not do so later: its secret is another one.
      this.listener.link(this.everOpen || this.failures < 3 ? "lost" : "refused");
      setTimeout(() => this.connect(), this.pause);
      this.pause = Math.min(LONGEST_PAUSE_MS, this.pause * 1.6);
    };
  }

  private unpack(frame: ArrayBuffer): void {
    const length = new DataView(frame).getUint32(0, true);
    const text = new TextDecoder().decode(new Uint8Array(frame, 4, length));
    const start = Math.ceil((length + 4) / 8) * 8;
    this.listener.message(JSON.parse(text) as ToPage, frame.slice(start));
  }
}
