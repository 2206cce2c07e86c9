package pipeline

import (
	"bytes"
	"maps"
	"sync"
)

// StatesInMemory returns states that last as long as the program, for tests, and for programs whose stages have nothing
// to remember beyond that:
//
//	pipeline.Provide(resources, pipeline.StatesInMemory())
func StatesInMemory() OpenStates {
	m := &memoryStates{values: make(map[stateKey][]byte)}
	return func() (States, error) { return m, nil }
}

type memoryStates struct {
	mu     sync.Mutex
	values map[stateKey][]byte
}

func (m *memoryStates) Get(state, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return bytes.Clone(m.values[stateKey{state, key}]), nil
}

func (m *memoryStates) Each(state string, visit func(key string, value []byte) error) error {
	m.mu.Lock()
	values := maps.Clone(m.values)
	m.mu.Unlock()
	for at, value := range values {
		if at.state != state {
			continue
		}
		if err := visit(at.key, value); err != nil {
			return err
		}
	}
	return nil
}

func (m *memoryStates) Commit(writes []StateWrite, done func(error)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, w := range writes {
		if at := (stateKey{w.State, w.Key}); w.Value == nil {
			delete(m.values, at)
		} else {
			m.values[at] = w.Value
		}
	}
	go done(nil)
}
