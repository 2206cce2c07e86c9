package exec

import (
	"fmt"
	"time"

	"github.com/webrace/webrace/internal/subprocess"
)

// memoryPause is the time between two looks at what the processes need.
const memoryPause = 200 * time.Millisecond

// watchMemory ends processes that need more memory than they may, with all that they have started, until the stage is
// closed. Which of its items is to blame is not known, so each is given to another process, for itself: the one that
// needs so much by itself fails, and what has only piled up in a process costs none.
func (s *programs) watchMemory() {
	ticker := time.NewTicker(memoryPause)
	defer ticker.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-ticker.C:
		}
		processes := s.pool.running()
		groups := make([]*subprocess.Group, len(processes))
		for i, p := range processes {
			groups[i] = p.group
		}
		for i, bytes := range subprocess.Memory(groups...) {
			if bytes > int64(s.options.MaxMemory) {
				s.countAt(processes[i].place, "over_memory")
				processes[i].fail(fmt.Errorf("it needed more memory than %v (max_memory), with all that it had started, and was killed", s.options.MaxMemory), 0)
			}
		}
	}
}
