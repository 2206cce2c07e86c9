package main

import (
	"testing"

	"github.com/webrace/webrace/pipeline"
)

func TestTheReportHasTheStepsOfTheExtractor(t *testing.T) {
	t.Parallel()
	r := reportOf(&pipeline.Report{Stages: map[string]pipeline.StageReport{
		"normalize": {Counters: map[string]int64{"candidates": 100, "links": 50, "repeated": 30, "ignored_scheme": 4, "invalid": 16}},
		"frontier": {Counters: map[string]int64{
			"accepted": 7, "refused_ignored_type": 5, "refused_rule": 3, "refused_blocked_domain": 2, "refused_blocked_url": 1,
			"refused_trap_dates": 8, "refused_trap_depth": 9, "refused_scope": 10,
		}},
		"fetch": {Counters: map[string]int64{"robots_refused": 6, "ignored_types": 1}},
	}})
	want := steps{Candidates: 100, IgnoredTypes: 10, Normalized: 80, FailedNormalization: 16, BlockedByRule: 6, Traps: 17, BlockedByRobots: 6, New: 7}
	if r.Extractor != want {
		t.Errorf("the steps are %+v, want %+v", r.Extractor, want)
	}
}
