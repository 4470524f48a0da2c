"""What a choice among 10 to 100,000 selectors or rules costs: bin/match_bench, whose source says how."""
from rig import output_of
from table import Goal, Table

COLUMNS = ["entries", "layout", "number", "hot ns", "hot x 10", "hot conditions", "random ns", "random x 10",
           "random conditions", "build ms", "free ms"]


def run(options):
    rounds, largest, requests = (2, 1000, 5000) if options.quick else (options.rounds, 100000, 200000)
    table = Table("match", "choosing among many, by kind of condition", COLUMNS)
    for line in output_of(options.build / "bin/match_bench", rounds, largest, requests).splitlines()[1:]:
        name, layout, number, *figures = line.replace("|", "").rsplit(None, 10)
        hot, hot_x, hot_conditions, cold, cold_x, cold_conditions, build, free = map(float, figures)
        table.add(entries=name, layout=layout, number=int(number), hot_ns=round(hot), hot_x_10=hot_x,
                  hot_conditions=hot_conditions, random_ns=round(cold), random_x_10=cold_x,
                  random_conditions=cold_conditions, build_ms=build, free_ms=free)
    few = [row for row in table.rows if row["number"] == 10]
    many = [row for row in table.rows if row["number"] == largest]
    table.goals = [
        Goal("conditions per request, more than among 10",
             max(m["random_conditions"] - f["random_conditions"] for m, f in zip(many, few)), 0),
        Goal(f"hot requests among {largest:,}, x 10", max(row["hot_x_10"] for row in many), 1.2),
        Goal(f"random requests among {largest:,}, x 10", max(row["random_x_10"] for row in many), 10)]
    return [table]
