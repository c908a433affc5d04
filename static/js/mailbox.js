// Makes the frame as high as the e-mail in it. Without this script its height is fixed.
(() => {
  "use strict";
  const frame = document.querySelector(".drawn");
  const fit = () => {
    const mail = frame.contentDocument?.documentElement;
    const borders = frame.offsetHeight - frame.clientHeight;
    if (mail?.offsetHeight) frame.style.height = `${mail.offsetHeight + borders}px`;
  };
  frame.addEventListener("load", fit);
  new ResizeObserver(fit).observe(frame); // a narrower frame needs more lines
})();
