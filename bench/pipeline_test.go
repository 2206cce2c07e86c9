package main

import (
	"os/exec"
	"testing"
)

func TestEveryContestantDoesTheWholeWork(t *testing.T) {
	t.Parallel()
	for name, work := range map[string]func(int) error{
		"hop, bare": hopBare, "hop, go-streams": hopGoStreams, "hop, webrace": hopWebrace,
		"cycle, bare": cycleBare, "cycle, go-streams": cycleGoStreams, "cycle, webrace": cycleWebrace,
	} {
		if err := work(2000); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorkThatIsNotDoneIsNoticed(t *testing.T) {
	t.Parallel()
	lost := newArrivals(2)
	lost.take(&parcel{id: 1, passed: hopStages})
	if lost.err() == nil {
		t.Error("a parcel that did not arrive was not missed")
	}
	skipped := newArrivals(1)
	skipped.take(&parcel{id: 0, passed: hopStages - 1})
	if skipped.err() == nil {
		t.Error("a parcel that passed too few stages was taken")
	}
	twice := newFifo(1)
	twice.put(0)
	twice.take()
	twice.finish(0)
	twice.finish(0)
	if twice.err() == nil {
		t.Error("a page that was finished twice was taken")
	}
}

// TestPrograms: documents come through each of the programs in Python as they should.
func TestPrograms(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("a program in Python: %v", err)
	}
	for _, program := range stagePrograms {
		if _, err := runProgram(python, program.text, 10); err != nil {
			t.Errorf("%s: %v", program.name, err)
		}
	}
}
