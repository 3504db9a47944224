/// The loops as they are compiled for one instruction set.
package enum LoopSet {}
