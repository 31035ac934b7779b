// A link to a claim opens its card, which may be folded.
function openClaim() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}
addEventListener("hashchange", openClaim);
addEventListener("DOMContentLoaded", openClaim);
