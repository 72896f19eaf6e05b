/* Search when the site is opened from disk. A browser starts no worker from a file, so the script of the search runs in a
   hidden frame of the page instead. Over http nothing changes. */
"use strict";
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.append(frame);
      this.inside = frame.contentWindow;
      this.inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.inside.importScripts = async (...scripts) => {
        for (const script of scripts) await this.load(script);
      };
      this.ready = this.load(address);
    }

    load(address) {
      return new Promise((resolve, reject) => {
        const script = this.inside.document.createElement("script");
        script.onload = resolve;
        script.onerror = reject;
        script.src = new URL(address, location);
        this.inside.document.body.append(script);
      });
    }

    async postMessage(data) {
      await this.ready;
      this.inside.dispatchEvent(new MessageEvent("message", { data }));
    }

    terminate() {}
  };
  window.Worker = window.IFrameWorker;
}
