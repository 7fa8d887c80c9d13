/* Makes tables of the class "sortable" sortable by their headers and filterable by a text field. No library. */
(function () {
  "use strict";
  function valueOf(cell) {
    var given = cell.getAttribute("data-value");
    var text = given === null ? cell.textContent.trim() : given;
    var number = parseFloat(text.replace("−", "-").replace(/,/g, ""));
    return isNaN(number) ? { text: text.toLowerCase(), number: null } : { text: text.toLowerCase(), number: number };
  }
  function compare(a, b) {
    if (a.number !== null && b.number !== null) { return a.number - b.number; }
    if ((a.number === null) !== (b.number === null)) { return a.number === null ? 1 : -1; }
    return a.text.localeCompare(b.text);
  }
  function sortBy(table, column, header) {
    var body = table.tBodies[0];
    var rising = header.getAttribute("aria-sort") !== "ascending";
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (other) { other.setAttribute("aria-sort", "none"); });
    header.setAttribute("aria-sort", rising ? "ascending" : "descending");
    Array.prototype.slice.call(body.rows)
      .map(function (row, place) { return { row: row, place: place, value: valueOf(row.cells[column]) }; })
      .sort(function (a, b) { return (rising ? 1 : -1) * compare(a.value, b.value) || a.place - b.place; })
      .forEach(function (entry) { body.appendChild(entry.row); });
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
  document.addEventListener("DOMContentLoaded", function () {
    document.querySelectorAll("table.sortable").forEach(function (table) {
      if (!table.tHead || !table.tBodies.length) { return; }
      Array.prototype.forEach.call(table.tHead.rows[0].cells, function (header, column) {
        var button = document.createElement("button");
        button.type = "button";
        button.className = "table-sort";
        button.textContent = header.textContent;
        button.addEventListener("click", function () { sortBy(table, column, header); });
        header.textContent = "";
        header.setAttribute("aria-sort", "none");
        header.appendChild(button);
      });
      if (table.tBodies[0].rows.length > 8) { filterField(table); }
    });
  });
})();
