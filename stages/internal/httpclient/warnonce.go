package httpclient

import "github.com/webrace/webrace/internal/lru"

// maxHosts is of how many hosts something is remembered in memory.
const maxHosts = 10_000

// WarnOnce reports of each thing once that it is the first time; and again when it has seen very many others since.
type WarnOnce struct{ seen lru.Cache[struct{}] }

// NewWarnOnce returns one that has seen nothing.
func NewWarnOnce() *WarnOnce { return &WarnOnce{lru.New[struct{}](maxHosts, nil)} }

// First reports whether something is said for the first time.
func (o *WarnOnce) First(what string) bool { return o.seen.AddNew(what, struct{}{}) }
