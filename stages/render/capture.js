(function (limit) {
  const root = document.documentElement;
  if (!root || !/^(https?|blob):/.test(document.URL)) return null; // it has left, or has been blanked
  // What is in open shadow trees is shown, but not part of the document's HTML.
  const flatten = (tree) => {
    for (const element of tree.querySelectorAll("*")) {
      if (!element.shadowRoot) continue;
      flatten(element.shadowRoot);
      const shown = document.createElement("div");
      for (const child of element.shadowRoot.childNodes) shown.append(child.cloneNode(true));
      element.prepend(shown);
    }
  };
  flatten(document);
  // What is for readers without scripts is not shown to those who have them.
  for (const element of document.querySelectorAll("noscript")) element.remove();
  // Links are relative to where scripts say that the page is.
  if (!document.querySelector("base[href]") && document.baseURI !== PAGE && document.head) {
    const base = document.createElement("base");
    base.href = document.baseURI;
    document.head.prepend(base);
  }
  const html = "<!DOCTYPE html>" + root.outerHTML;
  return { html: html.slice(0, limit).toWellFormed(), cut: html.length > limit };
})
