package control

import (
	"context"
	"database/sql"
	"iter"
)

// Told is a version of a document of which there is an ACI, and the URD that it answers.
type Told struct {
	Version int
	URD     string
}

// VersionsTold returns of which versions of a document after one and before another there are ACIs, in their order.
func (s *Store) VersionsTold(ctx context.Context, url string, after, before int) iter.Seq2[Told, error] {
	return rows(ctx, s, "read what was told", func(r *sql.Rows) (t Told, err error) {
		return t, r.Scan(&t.Version, &t.URD)
	}, "SELECT version, urd FROM aci WHERE url = ? AND version > ? AND version < ? ORDER BY version", url, after, before)
}
