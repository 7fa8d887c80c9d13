/* Makes tables sortable by their headers and long ones filterable by a text field. No library. */
(function () {
  "use strict";
  function valueOf(cell) {
    var given = cell.getAttribute("data-value");
    var text = given === null ? cell.textContent.trim() : given;
    var number = parseFloat(text.replace("−", "-").replace(/,/g, ""));
    return isNaN(number) ? { text: text.toLowerCase(), number: null } : { text: text.toLowerCase(), number: number };
  }
  function compare(a, b) {
    if (a.number !== null && b.number !== null && a.number !== b.number) { return a.number - b.number; }
    if ((a.number === null) !== (b.number === null)) { return a.number === null ? 1 : -1; }
    if (a.number !== null) { return a.text.localeCompare(b.text); }
    return a.text.localeCompare(b.text, "en", { numeric: true });  // ndcg@5 before ndcg@10
  }
  function isMissing(value) { return value.text === "" || value.text === "–"; }
  function sortBy(table, column, header) {
    var body = table.tBodies[0];
    var rising = header.getAttribute("aria-sort") !== "ascending";
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.removeAttribute("aria-sort"); });
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    Array.prototype.slice.call(body.rows)
      .map(function (row, place) { return { row: row, place: place, value: valueOf(row.cells[column]) }; })
      .sort(function (a, b) {
        // What is missing stays last, whichever way the rest is sorted.
        if (isMissing(a.value) !== isMissing(b.value)) { return isMissing(a.value) ? 1 : -1; }
        return (rising ? 1 : -1) * compare(a.value, b.value) || a.place - b.place;
      })
      .forEach(function (entry) { body.appendChild(entry.row); });
  }
  /* Lets a long_name_of_a_column break after its underscores. */
  function breakable(box) {
    var parts = box.textContent.split("_");
    box.textContent = parts[0];
    parts.slice(1).forEach(function (part) {
      box.append("_", document.createElement("wbr"), part);
    });
  }
  function filterField(table) {
    var label = document.createElement("label");
    label.className = "table-filter";
    label.textContent = "Show rows with ";
    var field = document.createElement("input");
    field.type = "search";
    field.addEventListener("input", function () {
      var wanted = field.value.toLowerCase();
      Array.prototype.forEach.call(table.tBodies[0].rows, function (row) {
        row.hidden = row.textContent.toLowerCase().indexOf(wanted) < 0;
      });
    });
    label.appendChild(field);
    table.parentNode.insertBefore(label, table);
  }
  // On paper nothing can be unfolded: what a figure says in words is open there.
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("figcaption details:not([open])").forEach(function (details) {
      details.open = true;
      details.setAttribute("data-opened-for-print", "");
    });
  });
  window.addEventListener("afterprint", function () {
    document.querySelectorAll("details[data-opened-for-print]").forEach(function (details) {
      details.open = false;
      details.removeAttribute("data-opened-for-print");
    });
  });
  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("table.sortable, .bd-article table").forEach(function (table) {
      if (!table.tHead || !table.tBodies.length || table.tHead.rows.length !== 1) { return; }
      if (table.classList.contains("report-card") || table.tBodies[0].rows.length < 3) { return; }
      if (table.querySelector("[colspan]:not([colspan='1']), [rowspan]:not([rowspan='1'])")) { return; }
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (header, column) {
        var button = document.createElement("button");
        button.type = "button";
        button.className = "table-sort";
        button.textContent = header.textContent.trim();
        if (!button.textContent) { return; }
        breakable(button);
        button.addEventListener("click", function () { sortBy(table, column, header); });
        header.textContent = "";
        header.appendChild(button);
      });
      if (table.tBodies[0].rows.length > 8) { filterField(table); }
    });
    // Whatever scrolls by itself can be reached, and so scrolled, with the keyboard.
    document.querySelectorAll(".bd-article table, .bd-article figure, .bd-article pre, .card-holder").forEach(function (box) {
      if (box.scrollWidth > box.clientWidth + 1) { box.tabIndex = 0; }
    });
  });
})();
