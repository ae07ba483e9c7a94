package swarm_test
import ("testing";"sync";"github.com/unloop-ai/unloop";"github.com/unloop-ai/unloop/swarm")
func BenchmarkTmp(b *testing.B){
 for _, fps := range []int{1,10,100,1000} { for _, batch := range []int{1,16} {
 b.Run(names[fps%1000]+"-"+string(rune('a'+batch)), func(b *testing.B){
 m := memory(b, swarm.DefaultBounds())
 var group sync.WaitGroup
 for g := range 16 { group.Go(func(){
   calls := make([]swarm.Call,batch)
   for n := g*batch; n < b.N; n += 16*batch { for k := range calls { calls[k]=swarm.Call{Fingerprint:unloop.Hash((n+k)%fps+1),Tool:"search",Worker:names[g]} }
    m.Record(b.Context(),"goal",calls) } })}
 group.Wait()
 })}}
}
