/* Streamlit's own widgets speak English. This puts the reader's words in their place: each rule knows where a word stands
   (a selector, and an attribute or the text itself) and its wording in every language, so that choosing another language
   turns it back. What no rule knows stays as it is. Months and days of a calendar come from the browser: Streamlit asks it
   for its language, and is told the page's. */
(() => {
  const RULES = [/* rules */];
  const ATTRIBUTES = ["aria-label", "placeholder"];
  const pattern = (wording) =>
    new RegExp("^" + wording.split("{it}").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("(.+)") + "$", "s");
  const known = {}; // every wording of a part as one pattern: most texts are none, and that is found at once
  for (const rule of RULES) {
    rule.patterns = Object.values(rule.words).map(pattern);
    known[rule.part] = [...(known[rule.part] ?? []), ...rule.patterns.map((one) => one.source)];
  }
  for (const part in known) known[part] = new RegExp(known[part].join("|"), "s");

  /* Read from the style's text: to ask the browser for the value would have it lay out the page after every change. */
  let voice = null;
  const spoken = () => {
    if (!voice?.isConnected) voice = [...document.querySelectorAll('[data-testid="stHtml"] > style')].find((one) => one.textContent.includes("--words:"));
    return /--words:(\w+)/.exec(voice?.textContent ?? "")?.[1] ?? "";
  };

  const own = navigator.language;
  function tell(lang) {
    const read = lang === "en" || own.startsWith(lang) ? own : lang;
    // Right to left, a slider's thumb would be mirrored and its track would not: "left is more private" must stay true.
    const wanted = /^(he|ar|fa|ur|yi)\b/.test(read) ? "en" : read;
    if (navigator.language === wanted) return;
    Object.defineProperty(navigator, "language", { value: wanted, configurable: true });
    window.dispatchEvent(new Event("languagechange"));
  }

  function translated(text, element, part, lang) {
    if (!known[part].test(text.trim())) return text;
    for (const rule of RULES) {
      if (rule.part !== part || !element.closest(rule.at)) continue;
      for (const one of rule.patterns) {
        const found = one.exec(text.trim());
        if (found) return (rule.words[lang] || rule.words.en).replace("{it}", () => found[1].replace(/(\d)([KMG]B)$/, "$1\u00a0$2"));
      }
    }
    return text;
  }

  /* "5 %", "± 3", "9 · 10⁻⁷" and "ε = 0.5" never break at the end of a line. */
  const glued = (words) =>
    words.replace(/(\d) (?=%)/g, "$1\u00a0").replace(/± (?=[\d…])/g, "±\u00a0").replace(/(\d) · (?=10[⁰-⁹⁻¹²³])/g, "$1\u00a0·\u00a0")
      .replace(/(^|(?<![\p{L}\p{N}])\p{L}) ([=≤≥<>]) (?=\S|$)/gu, "$1\u00a0$2\u00a0"); // the symbol may be a dotted word before

  function text(node, lang) {
    const words = node.parentElement ? translated(node.nodeValue, node.parentElement, "text", lang) : node.nodeValue;
    if (glued(words) !== node.nodeValue) node.nodeValue = glued(words);
  }

  /* A label is Markdown, and Streamlit hands it on as a name that is read aloud: without its backslashes. */
  const named = new WeakMap();
  const unmarked = (words) => words.replace(/\\([!-/:-@[-`{-~])\u2060?/g, "$1");

  function attributes(element, lang) {
    for (const name of ATTRIBUTES) {
      const now = element.getAttribute(name);
      if (!now || named.get(element) === now) continue;
      let words = translated(now, element, name, lang);
      if (name === "aria-label" && words.includes("\\")) named.set(element, (words = unmarked(words)));
      if (words !== now) element.setAttribute(name, words);
    }
  }

  function below(root, lang) {
    if (root.nodeType === Node.TEXT_NODE) return text(root, lang);
    if (root.nodeType !== Node.ELEMENT_NODE) return;
    attributes(root, lang);
    for (const own of root.querySelectorAll('[data-testid="stHtml"]')) {
      const words = document.createTreeWalker(own, NodeFilter.SHOW_TEXT);
      for (let node = words.nextNode(); node; node = words.nextNode())
        if (glued(node.nodeValue) !== node.nodeValue) node.nodeValue = glued(node.nodeValue);
    }
    const walk = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT, (node) =>
      node.nodeType === Node.ELEMENT_NODE && node.matches('[data-testid="stHtml"]')
        ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT);
    for (let node = walk.nextNode(); node; node = walk.nextNode())
      node.nodeType === Node.TEXT_NODE ? text(node, lang) : attributes(node, lang);
  }

  tell(document.documentElement.lang);
  let before = "";
  new MutationObserver((changes) => {
    const lang = spoken();
    if (!lang) return; // the page has not said yet
    if (lang !== before) {
      before = lang;
      tell(lang);
      return below(document.body, lang);
    }
    for (const change of changes)
      if (change.type === "attributes") attributes(change.target, lang);
      else if (change.type === "characterData") text(change.target, lang);
      else for (const node of change.addedNodes) below(node, lang);
  }).observe(document.documentElement, {
    subtree: true, childList: true, characterData: true, attributes: true, attributeFilter: ATTRIBUTES,
  });

  /* A link of ours to a page of this app goes there as the browser's own Back does: nothing is loaded anew. */
  addEventListener("click", (event) => {
    const link = event.target instanceof Element && event.target.closest('[data-testid="stHtml"] a[href]');
    const otherwise = event.button || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
    if (!link || otherwise || event.defaultPrevented || link.origin !== location.origin) return;
    if (link.target === "_blank" || link.hash || link.hasAttribute("download") || link.rel === "external") return;
    event.preventDefault();
    history.pushState({}, "", link.href);
    dispatchEvent(new PopStateEvent("popstate"));
    scrollTo(0, 0);
    document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
  });

  /* Two keys, told under "What is this?": "/" goes to the first field, "?" opens that help. The link that skips to the
     main content leads below navigation and meter. */
  const FIRST = [".st-key-box", ".st-key-answers-search", ".st-key-sentence", '[data-testid="stMain"]'];
  addEventListener("keydown", (event) => {
    const typing = event.target instanceof Element && event.target.closest("input, textarea, [contenteditable]");
    if (typing || event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return;
    if (event.key === "?") document.querySelector(".st-key-what button")?.click();
    else if (event.key === "/") {
      const field = FIRST.map((at) => document.querySelector(`${at} input, ${at} textarea`)).find(Boolean);
      if (field) { event.preventDefault(); field.focus(); field.scrollIntoView({ block: "center" }); }
    }
  });
  addEventListener("click", (event) => {
    if (!(event.target instanceof Element) || !event.target.closest('[data-testid="stSkipToContent"]')) return;
    const here = document.getElementById("here");
    if (here) { event.preventDefault(); event.stopImmediatePropagation(); here.focus(); }
  }, true);

  /* A number that stands in a field is there to be replaced: what is typed after a tap takes its place, as after Tab, and
     is not added to it. A second tap places the cursor. */
  let entered = null;
  addEventListener("focusin", (event) => {
    const field = event.target;
    entered = field instanceof HTMLInputElement && /^[-−+]?\d[\d.,\s]*%?$/.test(field.value) ? field : null;
  });
  addEventListener("click", (event) => {
    if (event.target === entered && entered.selectionStart === entered.selectionEnd) entered.select();
    entered = null;
  });

  /* A table that is wider than the screen says that it can be moved. */
  const wider = () => document.querySelectorAll(".scroll").forEach((one) =>
    one.toggleAttribute("data-wider", one.scrollWidth > one.clientWidth + 4));
  addEventListener("resize", wider);
  setInterval(wider, 700);

  /* Each kind of field comes in files of its own, asked for when the first of its kind is there; what waits for them is
     shown late. They are asked for while the page is on its way, except on Start, which has no field. */
  const FIELDS = [/* fields */];
  if (!location.pathname.endsWith("/")) for (const one of FIELDS) import(one).catch(() => {});

  /* Where people sign in: a page whose connection was closed, because its reader signed out in another window or was
     signed in for too long, says so by leading to the way in. Elsewhere nothing ever answers 401. */
  setInterval(async () => {
    const app = document.querySelector('[data-testid="stApp"]');
    if (!app || app.dataset.testConnectionState === "CONNECTED") return;
    const asked = await fetch("_stcore/host-config", { cache: "no-store" }).catch(() => null);
    if (asked?.status === 401) location.reload();
  }, 3000);
})();
