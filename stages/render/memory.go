package render

import (
	"context"
	"sync"
	"time"

	"github.com/webrace/webrace/internal/subprocess"
)

// watchPause is the time between two looks at what a browser needs.
const watchPause = 200 * time.Millisecond

// watchMemory kills the browser when it needs more memory than it may, until stop is called.
func (b *browser) watchMemory(ctx context.Context, p *page) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var done sync.WaitGroup
	done.Go(func() {
		ticker := time.NewTicker(watchPause)
		defer ticker.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticker.C:
			}
			if subprocess.Memory(b.group)[0] > int64(b.options.MaxMemory) {
				p.count("over_memory", 1)
				p.change(func() { p.hog = true })
				b.broken.Store(true)
				b.kill()
				return
			}
		}
	})
	return func() { cancel(); done.Wait() }
}
