"""Tables of figures and the goals they are held against."""


class Goal:
    """`value` may be `limit` at most."""

    def __init__(self, what, value, limit):
        self.what, self.value, self.limit = what, value, limit

    def met(self):
        return self.value <= self.limit

    def text(self, judged):
        verdict = "not judged" if not judged else "ok" if self.met() else "MISSED"
        return f"{self.what}: {self.value:.4g}, goal <= {self.limit:g}: {verdict}"

    def json(self):
        return {"what": self.what, "value": self.value, "limit": self.limit, "met": self.met()}


class Table:
    """Rows are dicts by column; a column that a row lacks stays empty, one that all rows lack is left out. `failed`
    counts requests through Weir."""

    def __init__(self, verb, title, columns):
        self.verb, self.title, self.columns = verb, title, columns
        self.rows, self.goals, self.failed = [], [], 0

    def add(self, **row):
        """By the columns' keys: their names in small letters, other characters as `_`."""
        if unknown := row.keys() - map(key_of, self.columns):
            raise ValueError(f"no column is called {unknown}")
        self.rows.append(row)

    def cells(self):
        """The heading, then the rows."""
        columns = [column for column in self.columns if any(key_of(column) in row for row in self.rows)]
        return [columns, *([cell(row.get(key_of(column))) for column in columns] for row in self.rows)]

    def text(self, judged):
        rows = self.cells()
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [f"== {self.verb}: {self.title}"]
        for row in rows:
            lines.append("  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:]))]))
        lines += [goal.text(judged) for goal in self.goals]
        return "\n".join(lines) + "\n"

    def markdown(self, judged):
        heading, *rows = self.cells()
        lines = [f"{self.title} (`tests/bench/run.sh {self.verb}`):", "",
                 "| " + " | ".join(heading) + " |", "|---|" + "---:|" * (len(heading) - 1)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        if self.goals:
            lines += ["", "Goals: " + "; ".join(goal.text(judged) for goal in self.goals) + "."]
        return "\n".join(lines) + "\n"

    def json(self):
        return {"verb": self.verb, "title": self.title, "rows": self.rows, "failed": self.failed,
                "goals": [goal.json() for goal in self.goals]}


def key_of(column):
    return "".join(c if c.isalnum() else "_" for c in column.lower())


def cell(value):
    if value is None:
        return ""
    return f"{value:,.2f}" if isinstance(value, float) else f"{value:,}" if isinstance(value, int) else str(value)
