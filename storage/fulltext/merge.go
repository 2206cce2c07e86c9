package fulltext

import (
	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	zap "github.com/blevesearch/zapx/v17"
)

// MergeUsing merges segments into a file, as the library does, but what it has read of them does not stay in
// memory. They are mapped files: all that was read counts as memory of the process until they are closed, and the
// largest merges read all of the index.
func (m *segmentMaker) MergeUsing(all []segment.Segment, drops []*roaring.Bitmap, path string, end chan struct{}, r segment.StatsReporter, config map[string]any) ([][]uint64, uint64, error) {
	return m.ZapPlugin.MergeUsing(all, drops, path, end, &merge{StatsReporter: r, from: all}, config)
}

// releaseAfter is how many bytes a merge writes, and so reads, before it lets go of what it has read.
const releaseAfter = 1 << 20

// merge hears of what is written.
type merge struct {
	segment.StatsReporter
	from    []segment.Segment
	written uint64 // since it last let go
}

// ReportBytesWritten is called with each write.
func (m *merge) ReportBytesWritten(n uint64) {
	if m.written += n; m.written >= releaseAfter {
		m.written = 0
		m.release()
	}
	m.StatsReporter.ReportBytesWritten(n)
}

func (m *merge) release() {
	for _, s := range m.from {
		if file, ok := s.(*zap.Segment); ok { // others lie in memory alone
			unload(file.Data())
		}
	}
}
