package control

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"
)

// Owner has URDs, a quota, or a budget of their own.
type Owner struct {
	Name  string
	URDs  int
	Quota int // requests a day; 0 is no limit
}

// Owners returns all there are, by name.
func (s *Store) Owners(ctx context.Context) iter.Seq2[Owner, error] {
	return rows(ctx, s, "list owners", func(r *sql.Rows) (o Owner, err error) {
		err = r.Scan(&o.Name, &o.URDs, &o.Quota)
		return o, err
	}, `SELECT name, sum(urds), sum(quota) FROM (
			SELECT owner AS name, count(*) AS urds, 0 AS quota FROM urd GROUP BY owner
			UNION ALL SELECT name, 0, quota FROM owner
			UNION ALL SELECT owner, 0, 0 FROM budget WHERE owner <> '') AS named
		GROUP BY name ORDER BY name`)
}

// Quota returns how many requests a day an owner may cause; 0 is no limit.
func (s *Store) Quota(ctx context.Context, owner string) (requests int, err error) {
	err = s.readRow(ctx, "read quota of "+owner, "SELECT quota FROM owner WHERE name = ?", []any{owner}, &requests)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return 0, err
	}
	return requests, nil
}

// SetQuota sets how many requests a day an owner may cause; 0 is no limit. The owner need have no URDs yet.
func (s *Store) SetQuota(ctx context.Context, owner string, requests int) error {
	if owner == "" || requests < 0 {
		return fmt.Errorf("set quota of %q to %d: it takes an owner, and 0 or more requests a day", owner, requests)
	}
	err := s.write(ctx, singleRows, "set quota of "+owner, func(tx *sql.Tx) error {
		query, args := "INSERT INTO owner VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET quota = excluded.quota", []any{owner, requests}
		if requests == 0 {
			query, args = "DELETE FROM owner WHERE name = ?", args[:1]
		}
		if _, err := tx.ExecContext(ctx, query, args...); err != nil {
			return err
		}
		_, err := tx.ExecContext(ctx, count("quotas"))
		return err
	})
	if err == nil {
		s.wake(&s.changed)
	}
	return err
}

// usageDays is how many days usage is remembered.
const usageDays = 400

// AddUsage adds to what owners used on a day, written 2026-11-21: requests that served several owners
// count as fractions. What was used more than a year before that day is forgotten. Cursors are set with it,
// all or nothing: they tell up to where usage was counted.
func (s *Store) AddUsage(ctx context.Context, day string, usage map[string]float64, cursors map[string]int64) error {
	date, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return fmt.Errorf("add usage: %w", err)
	}
	return s.write(ctx, singleRows, "add usage of "+day, func(tx *sql.Tx) error {
		for _, owner := range slices.Sorted(maps.Keys(usage)) { // in order, so that no two wait for each other's rows
			_, err := tx.ExecContext(ctx, "INSERT INTO usage VALUES (?, ?, ?) ON CONFLICT (day, owner) DO UPDATE SET requests = usage.requests + excluded.requests",
				day, owner, usage[owner])
			if err != nil {
				return err
			}
		}
		for _, follower := range slices.Sorted(maps.Keys(cursors)) {
			if _, err := tx.ExecContext(ctx, setCursor, follower, cursors[follower]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, "DELETE FROM usage WHERE day < ?", date.AddDate(0, 0, -usageDays).Format(time.DateOnly))
		return err
	})
}

// UsageOf returns what some owners used on some days, by day.
func (s *Store) UsageOf(ctx context.Context, owners, days []string) (map[string]map[string]float64, error) {
	used := make(map[string]map[string]float64, len(days))
	type entry struct {
		day, owner string
		requests   float64
	}
	for e, err := range rows(ctx, s, "read usage", func(r *sql.Rows) (e entry, err error) {
		err = r.Scan(&e.day, &e.owner, &e.requests)
		return e, err
	}, "SELECT day, owner, requests FROM usage WHERE day IN (SELECT value FROM json_each(?)) AND owner IN (SELECT value FROM json_each(?))", list(days), list(owners)) {
		if err != nil {
			return nil, err
		}
		if used[e.day] == nil {
			used[e.day] = make(map[string]float64)
		}
		used[e.day][e.owner] = e.requests
	}
	return used, nil
}

// Usage returns what each owner used on a day.
func (s *Store) Usage(ctx context.Context, day string) (map[string]float64, error) {
	used := make(map[string]float64)
	type entry struct {
		owner    string
		requests float64
	}
	for e, err := range rows(ctx, s, "read usage of "+day, func(r *sql.Rows) (e entry, err error) {
		err = r.Scan(&e.owner, &e.requests)
		return e, err
	}, "SELECT owner, requests FROM usage WHERE day = ?", day) {
		if err != nil {
			return nil, err
		}
		used[e.owner] = e.requests
	}
	return used, nil
}
