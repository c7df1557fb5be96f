// Browsers load neither modules nor WebAssembly from a disk; the page says so.
if (location.protocol === "file:") {
  const status = document.getElementById("status");
  status.dataset.state = "lost";
  status.textContent = "A browser does not run this from a disk. Try: python3 -m http.server in this folder, and http://localhost:8000/";
}
