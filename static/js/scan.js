// Scans a customer's QR code with the camera, by the browser's own detector or, where the browser has
// none, by one that is loaded on demand.
(() => {
  "use strict";

  const dialog = document.getElementById("scanner");
  if (!dialog) return;
  const video = dialog.querySelector("video");
  const view = video.parentElement;
  const words = dialog.querySelector("[data-scan-words]");
  const every = 120; // ms between two looks

  const otherwise = "Use a handheld scanner, or enter the PIN.";
  const refusals = {
    NotAllowedError: `The camera is blocked for this site. Allow it in the browser’s settings, or enter the PIN.`,
    NotFoundError: `No camera found. ${otherwise}`,
    NotReadableError: `Another app is using the camera. Close it and try again, or enter the PIN.`,
  };

  let detector;
  async function detect() {
    if ("BarcodeDetector" in window && (await window.BarcodeDetector.getSupportedFormats()).includes("qr_code")) {
      return new window.BarcodeDetector({ formats: ["qr_code"] });
    }
    await load(document.body.dataset.detector);
    const { BarcodeDetector, prepareZXingModule } = window.BarcodeDetectionAPI;
    const engine = document.body.dataset.engine;
    prepareZXingModule({ overrides: { locateFile: (path, prefix) => (path.endsWith(".wasm") ? engine : prefix + path) } });
    return new BarcodeDetector({ formats: ["qr_code"] });
  }

  function load(source) {
    if (window.BarcodeDetectionAPI) return Promise.resolve();
    return new Promise((resolve, reject) => {
      const script = document.createElement("script");
      script.src = source;
      script.onload = resolve;
      script.onerror = () => {
        script.remove();
        reject(new Error("the detector could not be loaded"));
      };
      document.head.append(script);
    });
  }

  let stream = null;
  let turn = 0; // of the camera: what belongs to an earlier one does nothing

  function stop() {
    turn++;
    stream?.getTracks().forEach((track) => track.stop());
    stream = null;
    video.srcObject = null;
    view.removeAttribute("data-live");
  }

  async function open(found) {
    const mine = ++turn;
    words.textContent = "Starting the camera…";
    dialog.showModal();
    try {
      if (!navigator.mediaDevices?.getUserMedia) throw new DOMException("", "NotFoundError");
      const camera = await navigator.mediaDevices.getUserMedia({
        audio: false, video: { facingMode: { ideal: "environment" }, width: { ideal: 1280 }, height: { ideal: 960 } },
      });
      if (mine !== turn) {
        camera.getTracks().forEach((track) => track.stop());
        return;
      }
      stream = camera;
      video.srcObject = camera;
      await video.play();
      view.setAttribute("data-live", "");
      words.textContent = "Hold the customer’s code in front of the camera.";
      detector ??= await detect();
    } catch (error) {
      if (mine !== turn) return;
      stop();
      turn = mine;
      words.textContent = refusals[error.name] ?? `The camera can’t be used right now. ${otherwise}`;
      return;
    }
    look(mine, found);
  }

  async function look(mine, found) {
    if (mine !== turn) return;
    let codes = [];
    try {
      if (video.readyState >= HTMLMediaElement.HAVE_CURRENT_DATA) codes = await detector.detect(video);
    } catch { /* unreadable frame: try the next one */ }
    if (mine !== turn) return;
    const text = codes.find((code) => code.rawValue)?.rawValue;
    if (!text) {
      setTimeout(() => look(mine, found), every);
      return;
    }
    navigator.vibrate?.(40);
    dialog.close();
    found(text);
  }

  dialog.addEventListener("close", stop);
  document.addEventListener("visibilitychange", () => { if (document.hidden && dialog.open) dialog.close(); });

  window.tillScanner = { open };
})();
