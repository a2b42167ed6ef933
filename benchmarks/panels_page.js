// Watches, from inside the page, when keys and the pointer move, what passes between page and
// kernel, and when a picture has been drawn.  It runs before anything of JupyterLab does.
// All times are those of performance.now(), to which the time stamps of events refer as well.

window.andreaProbe = (() => {
  const now = () => performance.now();
  const frame = () => new Promise(requestAnimationFrame);
  let log, waiting, arrived, burst, handle;

  function start(element) {
    log = { keys: [], moves: [], releases: [], pictures: [], messages: [] };
    [waiting, arrived, burst] = [[], false, null];
    handle = element ?? null;
  }
  start();

  // -- the hand ----------------------------------------------------------------------------------

  addEventListener("keydown", (event) => log.keys.push(event.timeStamp), true);
  // Not captured, so that the slider has moved by then.
  addEventListener("pointermove", (event) => {
    const value = handle?.getAttribute("aria-valuenow");
    log.moves.push({ at: event.timeStamp, value });
  });
  addEventListener("pointerup", (event) => log.releases.push(event.timeStamp), true);

  // -- the wire ----------------------------------------------------------------------------------

  const text = new TextDecoder();

  /** Type and content of a message in the binary form of Jupyter's websocket, or in JSON. */
  function read(data) {
    if (typeof data === "string") {
      const { header, content } = JSON.parse(data);
      return { type: header.msg_type, content, bytes: data.length };
    }
    const view = new DataView(data);
    const offset = (i) => Number(view.getBigUint64(8 * (i + 1), true));
    const part = (i) => JSON.parse(text.decode(data.slice(offset(i), offset(i + 1))));
    return { type: part(1).msg_type, content: part(4), bytes: data.byteLength };
  }

  function passed(data, sent) {
    const { type, content, bytes } = read(data);
    const { method = "", state = {}, content: custom } = content.data ?? {};
    const said = content.execution_state ?? custom?.type ?? "";
    log.messages.push({ at: now(), sent, type, method, keys: Object.keys(state), said, bytes });
    arrived ||= !sent && "picture" in state && method !== "echo_update";
  }

  const Plain = window.WebSocket;
  window.WebSocket = class extends Plain {
    constructor(...given) {
      super(...given);
      if (!String(given[0]).includes("/channels")) return;
      this.addEventListener("message", (event) => passed(event.data, false));
      this.watched = true;
    }
    send(data) {
      super.send(data);
      if (this.watched) passed(data.buffer ?? data, true);
    }
  };

  // -- the picture -------------------------------------------------------------------------------

  const closing = new MessageChannel(); // its message comes once the task that draws has ended
  closing.port1.onmessage = () => {
    const { end } = burst;
    burst = null;
    const last = log.pictures.at(-1);
    if (arrived) picture(end);
    else if (last && end - last.drawn < 50) last.drawn = end; // drawn in several tasks
    arrived = false;
  };

  function drawn(result) {
    if (burst === null) {
      burst = {};
      closing.port2.postMessage(0);
    }
    burst.end = now();
    return result;
  }

  async function picture(end) {
    const one = { drawn: end };
    log.pictures.push(one);
    do {
      one.noted = one.drawn;
      await frame();
      await frame();
      one.frames = now();
    } while (one.noted !== one.drawn);
    for (const tell of waiting.splice(0)) tell(log);
  }

  const canvas = CanvasRenderingContext2D.prototype;
  for (const name of [
    ...["putImageData", "drawImage", "fillText", "strokeText", "fillRect", "strokeRect"],
    ...["clearRect", "fill", "stroke"],
  ]) {
    const plain = canvas[name];
    canvas[name] = function (...given) {
      return drawn(plain.apply(this, given));
    };
  }

  const source = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
  Object.defineProperty(HTMLImageElement.prototype, "src", {
    ...source,
    set(value) {
      source.set.call(this, value);
      if (/^(data:image\/png|blob:)/.test(value)) picture(now());
    },
  });

  // -- what the benchmark asks for ---------------------------------------------------------------

  const shown = () => window.jupyterapp.shell.currentWidget;

  /** Run code in the kernel of the notebook, beside its cells; resolves to time and output. */
  async function execute(code) {
    const begun = now();
    const future = shown().sessionContext.session.kernel.requestExecute({ code });
    let said = "";
    future.onIOPub = ({ content }) => {
      said += content.text ?? (content.traceback ?? []).join("\n");
    };
    const { content } = await future.done;
    return { ms: now() - begun, said, status: content.status };
  }

  return {
    start,
    execute,
    log: () => log,

    /** Resolves once a picture has been on show for two frames. */
    picture: (seconds = 60) =>
      new Promise((resolve, reject) => {
        if (log.pictures[0]?.frames) resolve(log);
        waiting.push(resolve);
        setTimeout(() => reject(new Error("no picture was drawn")), 1000 * seconds);
      }),

    /** Run a cell; resolves to the milliseconds until its picture is drawn. */
    async run(index) {
      shown().content.activeCellIndex = index;
      start();
      const begun = now();
      window.jupyterapp.commands.execute("notebook:run-cell");
      const { pictures } = await this.picture();
      return { drawn: pictures[0].drawn - begun, frames: pictures[0].frames - begun };
    },

    /** Ask the kernel for something at the moment when the pointer is let go. */
    executeOnRelease: (code) =>
      new Promise((resolve) =>
        addEventListener("pointerup", () => execute(code).then(resolve), { once: true }),
      ),
  };
})();
