"""Answer the rows of a dataset of Ray, in a pool of workers."""

import tempfile
from pathlib import Path

import ray
from train_model import train_model

import recalltree.ray

model, test = train_model(Path(tempfile.mkdtemp()))
ray.init("local", num_cpus=4, include_dashboard=False)
rows = ray.data.read_parquet(str(test))
answers = rows.map_batches(
    recalltree.ray.Predictor,
    fn_constructor_args=(model,),
    fn_constructor_kwargs={"k": 3, "keep": ["id", "module"]},
    batch_format="pyarrow",
    compute=ray.data.ActorPoolStrategy(size=2),
)
found = answers.take_all()
right = sum(row["module"] == row["labels"][0] for row in found)
print(f"{right} of {len(found)} paragraphs are given their module")
ray.shutdown()
