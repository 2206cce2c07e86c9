package main

import (
	"strings"
	"testing"
	"time"

	"github.com/webrace/webrace/pipeline"
)

// What a follower has done long ago, and that it waits, is nothing of this run: documents are those that came back, or
// that an archive had, or, where nothing brings any, those that were indexed.
func TestTerminalCountsTheDocumentsOfThisRun(t *testing.T) {
	t.Parallel()
	crawl := ofStages{"fetch": {In: 9, Counters: counted{"pages": 3, "not_modified": 2, "fresh": 1}}, "frontier": {Counters: counted{"queued": 7, "dead": 40}}}
	search := ofStages{"objects": {Out: 5, Workers: 1}, "index": {In: 5, Counters: counted{"indexed": 5}}}
	archive := ofStages{"warc-source": {Out: 4, Counters: counted{"documents": 4, "revisits": 2}}}
	busy := ofStages{"urds": {Workers: 1, Counters: counted{"next_round": time.Now().Add(time.Hour).UnixMilli()}}, "fetch": {Busy: 2, Waiting: 1}}
	for _, c := range []struct {
		name                string
		runs                []ofStages
		documents, inFlight int64
		said                string
	}{
		{"a crawl", []ofStages{crawl}, 6, 0, "3 pages (0 B), 2 not modified, 1 from the store"},
		{"a crawl that is followed", []ofStages{crawl, search}, 6, 0, ""},
		{"a follower", []ofStages{search}, 5, 0, "5 documents indexed"},
		{"an archive", []ofStages{archive}, 4, 0, "4 documents read"},
		{"what is in flight", []ofStages{busy, search}, 5, 3, ""},
		{"an idle run", []ofStages{{"urds": busy["urds"]}, search}, 5, 0, ""},
	} {
		var all totals
		for _, s := range c.runs {
			all.add(&pipeline.Report{Stages: s})
		}
		if all.dealtWith() != c.documents || all.inFlight != c.inFlight {
			t.Errorf("%s: %d documents, %d in flight, want %d and %d", c.name, all.dealtWith(), all.inFlight, c.documents, c.inFlight)
		}
		if idle := all.idle(time.Now()) != ""; idle != (c.name == "an idle run") {
			t.Errorf("%s: idle %v", c.name, idle)
		}
		if c.said != "" && !strings.HasPrefix(all.sentence(), c.said) {
			t.Errorf("%s: %s, want %s", c.name, all.sentence(), c.said)
		}
	}
}

type (
	ofStages = map[string]pipeline.StageReport
	counted  = map[string]int64
)
