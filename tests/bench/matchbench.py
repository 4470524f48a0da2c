"""What a choice among 10 to 100,000 selectors or rules costs: bin/match_bench, whose source says how."""
from rig import output_of
from table import Goal, Table

COLUMNS = ["entries", "layout", "conditions", "hot ns of 10", "hot x 10", "random ns of 10", "random x 10", "build ms",
           "free ms"]


def parse(output):
    """(entries, layout, number) and its figures, in the order of match_bench's columns."""
    for line in output.splitlines()[1:]:
        entries, layout, number, *figures = line.replace("|", "").rsplit(None, 10)
        yield (entries, layout, int(number)), list(map(float, figures))


def run(options):
    rounds, largest, requests = (2, 1000, 5000) if options.quick else (options.rounds, 100000, 200000)
    table = Table("match", f"Choosing among {largest:,}, beside among 10", COLUMNS)
    figures = dict(parse(output_of(options.build / "bin/match_bench", rounds, largest, requests)))
    more_conditions = 0
    for entries, layout, number in figures:
        if number != 10:
            continue
        few, many = figures[entries, layout, 10], figures[entries, layout, largest]
        _, hot_x, _, _, random_x, conditions, build, free = many
        table.add(entries=entries, layout=layout, conditions=conditions, hot_ns_of_10=round(few[0]), hot_x_10=hot_x,
                  random_ns_of_10=round(few[3]), random_x_10=random_x, build_ms=build, free_ms=free)
        more_conditions = max(more_conditions, conditions - few[5])
    table.goals = [Goal("conditions per request, more than among 10", more_conditions, 0),
                   Goal(f"hot requests among {largest:,}, x 10", max(row["hot_x_10"] for row in table.rows), 1.2),
                   Goal(f"random requests among {largest:,}, x 10", max(row["random_x_10"] for row in table.rows), 10)]
    return [table]
