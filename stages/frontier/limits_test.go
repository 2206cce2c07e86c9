package frontier

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/pipeline"
)

// What is out counts as if it became a document, until it is known that it does not.
func TestTheLimitOfDocumentsIsNeverPassed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var reasons atomic.Int32
		q := quota{drain: func(string) { reasons.Add(1) }, began: time.Now()}
		q.set(RunOptions{RunPages: 2})
		for range 2 {
			if err := q.take(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		taken := make(chan error)
		go func() { taken <- q.take(t.Context()) }()
		synctest.Wait()
		select {
		case <-taken:
			t.Fatal("a third was handed out while two were out")
		default:
		}
		q.settle(webrace.HostReport{}) // no document
		if err := <-taken; err != nil {
			t.Fatal(err)
		}
		q.settle(webrace.HostReport{Documents: 1})
		if reasons.Load() != 0 {
			t.Error("it has ended with one document")
		}
		q.settle(webrace.HostReport{Documents: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := q.take(ctx); err == nil || reasons.Load() == 0 {
			t.Errorf("after the last document: %v, %d reasons", err, reasons.Load())
		}
	})
}

func TestALimitOfTimeCountsFromTheBeginningOfTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		q := quota{drain: func(string) { ended.Store(true) }, began: time.Now()}
		q.set(RunOptions{RunTime: pipeline.Duration(time.Hour)})
		time.Sleep(30 * time.Minute)
		q.set(RunOptions{RunTime: pipeline.Duration(40 * time.Minute)}) // a reload
		time.Sleep(10*time.Minute - time.Nanosecond)
		if synctest.Wait(); ended.Load() {
			t.Error("it ends early")
		}
		time.Sleep(time.Nanosecond)
		if synctest.Wait(); !ended.Load() {
			t.Error("it does not end")
		}
		q.close()
	})
}

func TestALimitIsNotNegative(t *testing.T) {
	t.Parallel()
	for _, change := range []func(*Options){
		func(o *Options) { o.RunPages = -1 }, func(o *Options) { o.RunTime = -1 }, func(o *Options) { o.RunBytes = -1 },
		func(o *Options) { o.SitemapLevels = 2 }, func(o *Options) { o.SitemapLevels = -1 },
	} {
		if err := with(change).Validate(); err == nil {
			t.Errorf("%+v is taken", with(change).RunOptions)
		}
	}
}
