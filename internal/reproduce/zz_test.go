package reproduce
import ("testing";"encoding/json")
func BenchmarkZFrame(b *testing.B){ l,_:=Demo{Seed: 1, Signals: 300, Epochs: 1}.Live(); _=l.train(b.Context(),nil); _=l.step(); for b.Loop(){ _=l.frame() } }
func BenchmarkZEncode(b *testing.B){ l,_:=Demo{Seed: 1, Signals: 300, Epochs: 1}.Live(); _=l.train(b.Context(),nil); _=l.step(); f:=l.frame(); for b.Loop(){ x,_:=json.Marshal(f); b.SetBytes(int64(len(x))) } }
