package fulltext

import (
	"context"
	"fmt"
)

// InMemory returns an index of the latest versions that a cache has of URLs, for questions that are to leave
// nothing behind: no disk ever holds it, and it is gone when it is closed. It answers as one in a directory does,
// and is not to be changed or rebuilt.
func InMemory(ctx context.Context, cache Cache, urls []string) (*Store, error) {
	ix, err := makeBleve("")
	if err != nil {
		return nil, fmt.Errorf("make full-text index in memory: %w", err)
	}
	s := &Store{options: Options{Cache: cache}, index: ix, keep: DefaultVersions}
	if err := s.Refresh(ctx, urls); err != nil {
		s.Close()
		return nil, err
	}
	return s, nil
}
