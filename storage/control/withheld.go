package control

import (
	"context"
	"database/sql"
	"iter"
	"time"

	"github.com/webrace/webrace/storage/schedule"
)

// An owner is sent as many ACIs a day as their budget allows, in the order of arrival. How many that were is
// not counted but follows from what is stored: the ACIs of the owner beyond the last one of the day before,
// and those of them that were removed since. So nothing is counted twice, whatever is repeated, and a crash
// leaves nothing to mend. What comes beyond that is withheld: it lies in a table of its own, where no
// follower and no owner meets it unasked, and is known by its id like any other.

// Withheld returns the ACIs that were withheld from an owner, or from everyone (""), the latest day first, and of a day
// the most relevant. They have no Seq: they were not sent. One that was withheld is not sent later.
func (s *Store) Withheld(ctx context.Context, owner string) iter.Seq2[ACI, error] {
	return rows(ctx, s, "read withheld ACIs", scanWithheld, "SELECT xml FROM withheld WHERE ?1 = '' OR owner = ?1 ORDER BY day DESC, relevance DESC, id", owner)
}

func scanWithheld(r *sql.Rows) (ACI, error) {
	var stored record
	if err := r.Scan(&stored.document); err != nil {
		return ACI{}, err
	}
	return decodeStoredACI(stored)
}

// WithheldOn returns how many ACIs were withheld on a day (UTC), by owner.
func (s *Store) WithheldOn(ctx context.Context, day time.Time) (map[string]int, error) {
	counts := make(map[string]int)
	type entry struct {
		owner string
		n     int
	}
	for e, err := range rows(ctx, s, "count withheld ACIs", func(r *sql.Rows) (e entry, err error) { return e, r.Scan(&e.owner, &e.n) },
		"SELECT owner, count(*) FROM withheld WHERE day = ? GROUP BY owner", dayOf(day)) {
		if err != nil {
			return nil, err
		}
		counts[e.owner] = e.n
	}
	return counts, nil
}

// Notice tells an owner that ACIs were withheld from them.
type Notice struct {
	Day   time.Time // its beginning, UTC
	Count int       // withheld so far
	Best  ACI       // the most relevant of them
}

// Notices returns those that an owner was not given yet, and marks them given: one for each day on which
// something was withheld, the earliest first.
func (s *Store) Notices(ctx context.Context, owner string) (notices []Notice, err error) {
	const due = "FROM withheld WHERE owner = ?1 AND day NOT IN (SELECT day FROM notice WHERE owner = ?1) GROUP BY day ORDER BY day"
	const doing = "read notices"
	var some bool // asked first, because hardly ever there is one, and reading waits for no writer
	if err := s.readRow(ctx, doing, "SELECT EXISTS (SELECT 1 "+due+")", []any{owner}, &some); err != nil || !some {
		return nil, err
	}
	err = s.write(ctx, allACIs, doing, func(tx *sql.Tx) error {
		notices, err = dueNotices(ctx, tx, "SELECT day, count(*) "+due, owner)
		for i := range notices {
			if err == nil {
				err = giveNotice(ctx, tx, owner, &notices[i])
			}
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return notices, nil
}

func dueNotices(ctx context.Context, tx *sql.Tx, query, owner string) (notices []Notice, err error) {
	found, err := tx.QueryContext(ctx, query, owner)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	for found.Next() {
		var n Notice
		var day int64
		if err := found.Scan(&day, &n.Count); err != nil {
			return nil, err
		}
		n.Day = time.Unix(day*daySeconds, 0).UTC()
		notices = append(notices, n)
	}
	return notices, found.Err()
}

// giveNotice adds the most relevant of what was withheld, and remembers that the notice was given.
func giveNotice(ctx context.Context, tx *sql.Tx, owner string, n *Notice) error {
	var best record
	err := tx.QueryRowContext(ctx, "SELECT xml FROM withheld WHERE owner = ? AND day = ? ORDER BY relevance DESC, id LIMIT 1", owner, dayOf(n.Day)).Scan(&best.document)
	if err == nil {
		n.Best, err = decodeStoredACI(best)
	}
	if err == nil {
		_, err = tx.ExecContext(ctx, "INSERT INTO notice VALUES (?, ?)", owner, dayOf(n.Day))
	}
	return err
}

const daySeconds = 24 * 60 * 60

// dayOf counts days since 1970, UTC.
func dayOf(t time.Time) int64 { return t.Unix() / daySeconds }

// allowance is how many ACIs may still be sent to whom, in one transaction.
type allowance struct {
	*statements
	day     int64
	after   int64 // the last ACI of the day before
	budgets budgets
	left    map[string]int
}

// isOver reports whether it is another day by now: a later one, or, if the clock ran days ahead and was set back,
// an earlier one.
func (a *allowance) isOver(now time.Time) bool {
	return dayOf(now) > a.day || dayOf(now.Add(schedule.ClockSkew)) < a.day
}

// begin makes what comes from now on count for a new day.
func (a *allowance) begin(today int64) error {
	a.day = today
	err := a.tx.QueryRowContext(a.ctx, lastACI).Scan(&a.after)
	if err == nil {
		_, err = a.tx.ExecContext(a.ctx, "DELETE FROM trimmed_today")
	}
	if err == nil {
		_, err = a.tx.ExecContext(a.ctx, "UPDATE counter SET value = CASE name WHEN 'day' THEN CAST(? AS BIGINT) ELSE CAST(? AS BIGINT) END WHERE name IN ('day', 'day_seq')", a.day, a.after)
	}
	return err
}

// look finds out how many may still be sent to owners, where that is limited.
func (a *allowance) look(owners []string) error {
	var limited []string
	most := 0
	for _, owner := range owners {
		limit := a.budgets.of(owner).Alerts
		if _, known := a.left[owner]; limit > 0 && !known {
			a.left[owner] = limit
			limited = append(limited, owner)
			most = max(most, limit)
		}
	}
	if len(limited) == 0 {
		return nil
	}
	const query = `SELECT value, (SELECT count(*) FROM (SELECT 1 FROM aci WHERE owner = value AND seq > ? LIMIT ?) AS sent) +
		coalesce((SELECT count FROM trimmed_today WHERE owner = value), 0) FROM json_each(?) AS wanted`
	return a.each(query, []any{a.after, most, list(limited)}, func(scan func(...any) error) error {
		var owner string
		var sent int
		err := scan(&owner, &sent)
		a.left[owner] -= sent
		return err
	})
}

// spend reports whether one more may be sent to an owner, and counts it.
func (a *allowance) spend(owner string) bool {
	left, limited := a.left[owner]
	if limited && left > 0 {
		a.left[owner]--
	}
	return !limited || left > 0
}

// trimWithheld removes ACIs that were withheld on a day before a time, and returns how many. Those of their ids
// that come again are judged anew: their owners were not told of them.
func trimWithheld(ctx context.Context, tx *sql.Tx, before time.Time) (int, error) {
	result, err := tx.ExecContext(ctx, "DELETE FROM withheld WHERE id IN (SELECT id FROM withheld WHERE day < ? LIMIT ?)", dayOf(before), expireBatch)
	if err != nil {
		return 0, err
	}
	n, err := result.RowsAffected()
	return int(n), err
}

// countTrimmed is executed with ACIs about to be removed: those of today count towards their owners' budgets
// also when they are gone.
const countTrimmed = `INSERT INTO trimmed_today SELECT owner, count(*) FROM aci
	WHERE seq > (SELECT value FROM counter WHERE name = 'day_seq') AND seq IN (SELECT seq %s) GROUP BY owner
	ON CONFLICT (owner) DO UPDATE SET count = trimmed_today.count + excluded.count`
