package fulltext

import (
	"testing"
	"time"
)

// oneOfEach is a cache with one version of each document.
type oneOfEach map[string]Document

func (c oneOfEach) Versions(url string) ([]int, error) {
	if _, ok := c[url]; ok {
		return []int{1}, nil
	}
	return nil, nil
}

func (c oneOfEach) Document(url string, _ int) (Document, bool, error) {
	d, ok := c[url]
	return d, ok, nil
}

func TestAnIndexInMemoryAnswersLikeOneOnTheDisk(t *testing.T) {
	t.Parallel()
	cache, urls := oneOfEach{}, []string{"http://gone.example/"}
	for name, d := range library {
		d.URL, d.Version = urlOf(name), 1
		cache[d.URL], urls = d, append(urls, d.URL)
	}
	onDisk := filled(t)
	inMemory, err := InMemory(t.Context(), cache, urls)
	if err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{"annotation", "documents state", "έρευνα", "title:state", "host:*.org", "psi", "haus", "nowhere", "after:" + day.Format(time.DateOnly)} {
		if got, want := find(t, inMemory, query), find(t, onDisk, query); got != want {
			t.Errorf("%s finds %q, want %q", query, got, want)
		}
	}
	if n, err := inMemory.Count(); err != nil || int(n) != len(library) {
		t.Errorf("%d documents, want %d: %v", n, len(library), err)
	}
	if err := inMemory.Close(); err != nil {
		t.Error(err)
	}
	if _, err := inMemory.Count(); err == nil {
		t.Error("a closed index answers")
	}
}
