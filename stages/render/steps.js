// Does a step, or finds where to click; says why it cannot be done yet.
(function (verb, selector, value, end) {
  const root = document.documentElement;
  if (!root) return { problem: "there is no page" };
  const height = root.scrollHeight;
  if (verb === "scroll" && selector === end) {
    window.scrollTo({ top: height, behavior: "instant" });
    return { height };
  }
  const element = document.querySelector(selector);
  if (!element) return { problem: "no element matches" };
  const call = (e) => "<" + e.localName + (e.id ? " id=" + e.id : "") + ">";
  const center = () => element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
  const doers = {
    wait: () => ({}),
    scroll: () => { center(); return { height }; },
    click: () => {
      center();
      const box = element.getClientRects()[0];
      if (!box || !box.width || !box.height) return { problem: call(element) + " is not shown" };
      if (element.disabled) return { problem: call(element) + " is disabled" };
      const x = box.left + box.width / 2, y = box.top + box.height / 2;
      const top = document.elementFromPoint(x, y);
      if (!top) return { problem: call(element) + " is out of sight" };
      if (!element.contains(top) && top.closest("label")?.control !== element) return { problem: call(top) + " covers it" };
      return { x, y };
    },
    fill: () => {
      if (element.disabled || element.readOnly) return { problem: call(element) + " takes no input" };
      if (element.localName === "select") {
        const choice = [...element.options].find((o) => o.value === value || o.label.trim() === value);
        if (!choice) return { problem: call(element) + " has no such choice" };
        element.value = choice.value;
      } else if (/^(checkbox|radio|file|button|submit|reset|image)$/.test(element.type) || element.localName === "button") {
        return { problem: call(element) + " takes no text: click it" };
      } else if (element.localName === "input" || element.localName === "textarea") {
        element.focus();
        element.value = value;
      } else if (element.isContentEditable) {
        element.focus();
        element.textContent = value;
      } else {
        return { problem: call(element) + " is no field" };
      }
      for (const type of ["input", "change"]) element.dispatchEvent(new Event(type, { bubbles: true }));
      return {};
    },
  };
  return doers[verb]();
})
