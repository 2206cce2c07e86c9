//go:build !unix

package control

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/stdlib"
)

// isDoubtful reports whether a connection may have ended.
func isDoubtful(_ context.Context, p stdlib.ShouldPingParams) bool {
	return p.IdleDuration > time.Second
}
