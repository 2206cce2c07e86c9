package pipeline

import (
	"context"
	"time"
)

// A log is taken to be fed by somebody at work when it grew by so many entries since the last look. Fewer leave the
// processor to the follower too: a crawl that waits for its hosts.
const (
	paceLook = time.Second
	paceBusy = 16
)

// pace lets a follower give way to those who feed its log.
type pace struct {
	last func(context.Context) (uint64, error) // of the log
	most time.Duration                         // that entries wait
	free uint64                                // those up to here need not wait any more
}

// giveWay waits before the entry that follows after: until those who feed the log rest or have ended, or until it has
// waited for as long as it may. Then everything that is there by then is caught up with.
func (p *pace) giveWay(feeding context.Context, after uint64) error {
	if p.most <= 0 || after < p.free || feeding.Err() != nil {
		return nil
	}
	seen, err := p.last(feeding)
	look, late := time.NewTicker(paceLook), time.NewTimer(p.most)
	defer look.Stop()
	defer late.Stop()
	for err == nil {
		over := true
		select {
		case <-feeding.Done():
			return nil
		case <-late.C:
		case <-look.C:
			over = false
		}
		p.free, err = p.last(feeding)
		if over || p.free < seen+paceBusy {
			break
		}
		seen = p.free
	}
	if feeding.Err() != nil {
		return nil
	}
	return err
}
